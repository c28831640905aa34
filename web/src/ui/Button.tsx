import { useContext, type ComponentProps } from "react";
import { Connected } from "../lib/connected";
import { cx } from "../lib/cx";
import { Icon } from "./Icon";
import { Kbd } from "./Kbd";

type Look = "plain" | "primary" | "quiet" | "danger";

interface Props extends Omit<ComponentProps<"button">, "icon"> {
  look?: Look;
  icon?: string;
  /** The key that does the same. */
  keys?: string;
  /** It is being done: the width stays, the mark shows it. Who says so asks the daemon, and is off without a connection. */
  acting?: boolean;
}

const looks: Record<Look, string> = {
  plain: "bg-panel border-line-2 hover:bg-hover",
  primary: "primary bg-ink text-on-ink border-ink hover:bg-ink-2 hover:border-ink-2",
  quiet: "bg-transparent border-transparent text-ink-2 hover:bg-hover hover:text-ink",
  danger: "bg-panel border-line-2 text-fail hover:bg-hover",
};

/** A button. One primary at a place; what it will do stands beside it. */
export function Button({ look = "plain", icon, keys, acting, className, children, disabled, title, type = "button", ...rest }: Props) {
  const off = !useContext(Connected) && acting !== undefined;
  return (
    <button
      {...rest}
      type={type}
      title={off ? "Off until the connection is back" : title}
      disabled={disabled || acting || off}
      aria-busy={acting}
      className={cx(
        "inline-flex h-(--control) items-center justify-center gap-1.5 rounded-box border px-2.5 font-mid whitespace-nowrap transition-colors duration-[80ms] disabled:opacity-55",
        looks[look],
        children === undefined && "w-(--control) px-0",
        className,
      )}
    >
      {acting ? <Icon name="s-starting" small className="animate-turn" /> : icon && <Icon name={icon} small />}
      {children}
      {keys && <Kbd keys={keys} />}
    </button>
  );
}
