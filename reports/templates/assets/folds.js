// What a link leads to is unfolded, in browsers too that do not do so by themselves.
{
  const unfold = (id) => {
    let fold = document.getElementById(id)?.closest("details");
    for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };
  document.addEventListener("click", ({ target }) => {
    const link = target.closest("a[href^='#']");
    if (link) unfold(link.hash.slice(1));
  });
  unfold(location.hash.slice(1));
}
