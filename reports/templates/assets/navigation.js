// The link of the section in view is the current one.
{
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const inView = new Set();
  const mark = () => {
    const current = [...links.keys()].find((id) => inView.has(id));
    links.forEach((link, id) => {
      if (id === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  const observer = new IntersectionObserver(
    (entries) => {
      entries.forEach((entry) => inView[entry.isIntersecting ? "add" : "delete"](entry.target.id));
      mark();
    },
    { rootMargin: "-140px 0px -40% 0px" },
  );
  links.forEach((_, id) => observer.observe(document.getElementById(id)));
}
