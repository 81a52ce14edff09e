// The page's icon: with a mark while somebody calls for the person.

const MARKED = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<defs><linearGradient id="p" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#f3d3df"/>
<stop offset=".5" stop-color="#b5dcee"/><stop offset="1" stop-color="#f6e8c4"/></linearGradient></defs>
<circle cx="15" cy="17" r="14" fill="url(#p)"/>
<path d="M9 12.5l4.6 4.5L9 21.5M16 22h6" fill="none" stroke="#1a1920" stroke-width="2.7"
 stroke-linecap="round" stroke-linejoin="round"/>
<circle cx="24" cy="8" r="8" fill="#d98a1f" stroke="#fff" stroke-width="1.5"/></svg>`;

let plain: string | null = null;

/** Show how many call: on the tab's icon, and on that of an installed page. */
export function badge(count: number): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (link) {
    plain ??= link.getAttribute("href") ?? "";
    const href = count ? `data:image/svg+xml,${encodeURIComponent(MARKED)}` : plain;
    if (link.getAttribute("href") !== href) link.setAttribute("href", href);
  }
  const { setAppBadge } = navigator as Navigator & { setAppBadge?(count: number): Promise<void> };
  setAppBadge?.call(navigator, count).catch(() => undefined);
}
