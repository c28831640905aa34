import { Icon } from "./Icon";

interface Props {
  label: string;
  value: string;
  choices: { value: string; text: string }[];
  onChoose: (value: string) => void;
}

/** One of several, in the system's own menu. */
export function Pick({ label, value, choices, onChoose }: Props) {
  return (
    <label className="relative inline-flex h-(--control) items-center rounded-box text-ink-2 hover:bg-hover hover:text-ink">
      <span className="sr-only">{label}</span>
      <select
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value)}
        className="h-full max-w-44 appearance-none truncate rounded-box bg-transparent pr-7 pl-2.5 font-mid"
      >
        {choices.map((one) => (
          <option key={one.value} value={one.value} className="bg-raised text-ink">
            {one.text}
          </option>
        ))}
      </select>
      <Icon name="u-down" small className="pointer-events-none absolute right-2" />
    </label>
  );
}
