// A run's page follows its analysis, and is loaded anew when that has ended.
{
  const doing = document.getElementById("doing");
  if (doing) {
    const news = new EventSource(doing.dataset.events);
    news.onmessage = ({ data }) => {
      const now = JSON.parse(data);
      if (now.doing) doing.textContent = now.doing;
    };
    news.addEventListener("ended", () => {
      news.close();
      location.reload();
    });
  }
  for (const place of document.querySelectorAll("[data-here]")) place.textContent = location.origin;
}
