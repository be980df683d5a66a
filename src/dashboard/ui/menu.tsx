import {
  type ComponentProps,
  type CSSProperties,
  cloneElement,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import styles from './menu.module.css';
import { itemFor, itemsOf } from './menu-keys.ts';
import { type MenuAlign, placeBeside } from './menu-place.ts';

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement<ComponentProps<'button'>>;
  readonly children: ReactNode;
  readonly align?: MenuAlign;
}

/** A menu of acts behind a button. It is a popover: the browser keeps it on top, closes it and returns the focus. */
export function Menu({ trigger, children, align = 'end' }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<CSSProperties | null>(null);
  const isOpen = place !== null;
  useEffect(() => {
    if (!isOpen) return;
    // Its place is that of the button at opening.
    const close = ({ target }: Event) => target !== popup.current && popup.current?.hidePopover();
    window.addEventListener('scroll', close, true);
    return () => window.removeEventListener('scroll', close, true);
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Tab') popup.current?.hidePopover();
    const item = itemFor(event.key, popup.current);
    if (item === undefined && event.key !== 'Escape') return;
    item?.focus();
    if (item === undefined) popup.current?.hidePopover();
    // A dialog or a list around the menu does not see keys that the menu took.
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      {cloneElement(trigger, {
        ref: button,
        id: `${id}-button`,
        popoverTarget: id,
        'aria-haspopup': 'menu',
        'aria-expanded': isOpen,
        onKeyDown: (event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          popup.current?.showPopover();
        },
      })}
      <div
        ref={popup}
        id={id}
        popover="auto"
        className={styles.popup}
        style={place ?? undefined}
        onBeforeToggle={({ newState }) => {
          if (newState === 'open' && button.current) setPlace(placeBeside(button.current, align));
        }}
        onToggle={({ newState }) => {
          if (newState === 'open') itemsOf(popup.current)[0]?.focus();
          else setPlace(null);
        }}
      >
        {isOpen && (
          <div role="menu" aria-labelledby={`${id}-button`} tabIndex={-1} onKeyDown={onKeyDown}>
            {children}
          </div>
        )}
      </div>
    </>
  );
}
