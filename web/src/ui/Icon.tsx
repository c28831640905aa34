import { cx } from "../lib/cx";
import sprite from "../assets/icons.svg?url&no-inline";

interface Props {
  /** The symbol's name in assets/icons.svg: s-… is a status, u-… a thing or an act. */
  name: string;
  /** 14 inside of controls and rows, else 16. */
  small?: boolean;
  className?: string;
  /** For a shape that stands alone; else the word beside it says it. */
  label?: string;
}

/** A shape of the sprite, in the colour of the text around it. */
export function Icon({ name, small, className, label }: Props) {
  return (
    <svg
      className={cx(small ? "size-3.5" : "size-4", "block fill-none stroke-current [stroke-linecap:round] [stroke-linejoin:round] [stroke-width:1.5]", className)}
      role={label ? "img" : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      <use href={`${sprite}#${name}`} />
    </svg>
  );
}
