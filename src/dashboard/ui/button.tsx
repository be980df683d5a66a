import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import styles from './button.module.css';
import { classNames } from './class-names.ts';

export type ButtonLook = 'plain' | 'primary' | 'danger' | 'quiet' | 'pill';

interface Look {
  readonly look?: ButtonLook;
  readonly small?: boolean;
}

const classOf = ({ look = 'plain', small = false }: Look, more?: string): string =>
  classNames(styles.button, look !== 'plain' && styles[look], small && styles.small, more);

interface ButtonProps extends ComponentProps<'button'>, Look {
  /** While the button's work is under way: it keeps the focus, and does nothing. */
  readonly busy?: boolean;
}

export function Button({
  look,
  small,
  busy = false,
  className,
  onClick,
  children,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      data-look={look}
      type={type}
      className={classOf({ look, small }, className)}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {children}
    </button>
  );
}

/** A link of the router that looks like a button. */
export const ButtonLink = createLink(({ look, small, className, ...rest }: ComponentProps<'a'> & Look) => (
  <a {...rest} data-look={look} className={classOf({ look, small }, className)} />
));
