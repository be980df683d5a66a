import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Pages } from './use-pages.ts';

export interface RowWindow<Element extends HTMLElement> {
  readonly frame: RefObject<Element | null>;
  readonly virtualizer: Virtualizer<Window, HTMLElement>;
}

/** The part of a list that is on the screen. The whole page scrolls, so that a phone's browser can hide its bars. */
export function useRowWindow<Row, Element extends HTMLElement>(
  pages: Pages<Row>,
  rowHeight: number,
): RowWindow<Element> {
  const frame = useRef<Element>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const top = frame.current === null ? 0 : frame.current.getBoundingClientRect().top + window.scrollY;
    if (Math.round(top) !== margin) setMargin(Math.round(top));
  });
  const virtualizer = useWindowVirtualizer<HTMLElement>({
    count: pages.count,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: margin,
  });
  const items = virtualizer.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = items.at(-1)?.index ?? 0;
  const { show } = pages;
  useEffect(() => show(from, to));
  return { frame, virtualizer };
}
