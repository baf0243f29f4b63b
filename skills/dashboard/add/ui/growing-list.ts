import { isOnTheWay } from './page.ts';
import { type RefObject, useEffect, useRef, useState } from './vendor.ts';

// Lists that are long are drawn as far as they are seen.

/** Items that are drawn before the first picture, and those that are added at a time. */
const AT_ONCE = 8;
const NEXT = 30;
const PAUSE_MS = 60;

/**
 * Returns how many of the newest items are to be drawn: those that are seen at once, and then bit by bit all, but none
 * while another place is on the way.
 */
export function useGrowing(length: number): number {
  const [drawn, setDrawn] = useState(AT_ONCE);
  useEffect(() => {
    if (length === 0 || drawn === Number.POSITIVE_INFINITY) return;
    const next = drawn + 2 * AT_ONCE;
    let wait = setTimeout(grow, PAUSE_MS);
    function grow(): void {
      if (isOnTheWay()) wait = setTimeout(grow, PAUSE_MS);
      else setDrawn(next >= length ? Number.POSITIVE_INFINITY : next);
    }
    return () => clearTimeout(wait);
  }, [length === 0, drawn]);
  return drawn;
}

/**
 * Returns how many of the first items are to be drawn, and a reference for an element behind them: when that comes near
 * the part that is seen, more are drawn.
 */
export function useFirst(length: number): readonly [number, RefObject<HTMLElement | null>] {
  const [drawn, setDrawn] = useState(NEXT);
  const end = useRef<HTMLElement>(null);
  useEffect(() => {
    if (end.current === null || drawn >= length) return;
    const observer = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) setDrawn(drawn + NEXT);
      },
      { rootMargin: '300px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [length, drawn]);
  return [drawn, end];
}
