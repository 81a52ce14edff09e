// A media query as a value that views follow.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export function useMedia(query: string): boolean {
  const matches = useSignal(matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const follow = () => (matches.value = media.matches);
    follow();
    media.addEventListener("change", follow);
    return () => media.removeEventListener("change", follow);
  }, [query]);
  return matches.value;
}
