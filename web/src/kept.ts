// What this browser stores for the page. Without storage it lasts as long as the page is open.

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(`nacre.${name}`);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`nacre.${name}`);
    else localStorage.setItem(`nacre.${name}`, value);
  } catch {
    // as above
  }
}
