const fills = { calm: "fill-ink-3", work: "fill-work", need: "fill-need-mark", held: "fill-held", fail: "fill-fail" };

interface Props {
  /** What it measures, in words: "5 hours: 71 % used". */
  label: string;
  /** 0 to 100. */
  value: number;
  /** A mark across it, 0 to 100: how much of the time has passed. */
  mark?: number | null;
  tone?: keyof typeof fills;
}

/** How much of something is used; a mark shows how much was to be used by now. */
export function Meter({ label, value, mark = null, tone = "calm" }: Props) {
  return (
    <svg className="block h-1.5 w-full" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect width="100" height="6" rx="1" className="fill-line" />
      <rect width={Math.max(0, Math.min(100, value))} height="6" rx="1" className={fills[tone]} />
      {mark !== null && <path d={`M${mark} -1v8`} className="stroke-ink [stroke-width:2] [vector-effect:non-scaling-stroke]" />}
    </svg>
  );
}
