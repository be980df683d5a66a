import type { CSSProperties } from 'react';

export type MenuAlign = 'start' | 'end';

const gap = 4;
const edge = 8;
/** A menu with less room than this opens to the other side. */
const needed = 240;

/** Where a menu goes: below its button or above it, on the side of it that has room. */
export function placeBeside(button: HTMLElement, align: MenuAlign): CSSProperties {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const isBelow = height - bottom >= needed || height - bottom >= top;
  const isStart = align === 'start' ? width - left >= needed || width - left >= right : right < needed;
  return {
    ...(isBelow ? { top: bottom + gap } : { bottom: height - top + gap }),
    ...(isStart ? { left: Math.max(edge, left) } : { right: Math.max(edge, width - right) }),
    maxHeight: Math.min(420, (isBelow ? height - bottom : top) - gap - edge),
  };
}
