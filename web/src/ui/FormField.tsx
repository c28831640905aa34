import { useId, type ComponentProps } from "react";
import { cx } from "../lib/cx";

const box = "rounded-box border border-line-2 bg-sunken px-2";

/** A line of a form with its label above. */
export function TextField({ label, help, onText, ...rest }: { label: string; help?: string; onText: (text: string) => void } & ComponentProps<"input">) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-12 font-mid">{label}</label>
      <input {...rest} id={id} onInput={(event) => onText(event.currentTarget.value)} className={cx(box, "h-(--control)")} />
      {help && <p className="text-11 text-ink-3">{help}</p>}
    </div>
  );
}

/** Several lines of a form. */
export function TextArea({ label, help, mono, onText, ...rest }: { label: string; help?: string; mono?: boolean; onText: (text: string) => void } & ComponentProps<"textarea">) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-12 font-mid">{label}</label>
      <textarea {...rest} id={id} onInput={(event) => onText(event.currentTarget.value)} className={cx(box, "py-1.5", mono && "font-mono text-12")} />
      {help && <p className="text-11 text-ink-3">{help}</p>}
    </div>
  );
}

/** One of a few. */
export function Choice({ label, value, options, onChoose }: { label: string; value: string; options: { value: string; text: string }[]; onChoose: (value: string) => void }) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-12 font-mid">{label}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)} className={cx(box, "h-(--control) min-w-0")}>
        {options.map((one) => (
          <option key={one.value} value={one.value}>{one.text}</option>
        ))}
      </select>
    </div>
  );
}

/** Lines of a text box that hold something. */
export function linesIn(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
