/** How far a plan is: one mark for each step, at most 8. */
export function Steps({ done, of, tone = "fill-work" }: { done: number; of: number; tone?: string }) {
  const marks = Math.min(Math.max(of, 1), 8);
  const filled = of === 0 ? 0 : Math.floor((done * marks) / of);
  const gap = 44 / marks;
  return (
    <svg className="h-1.5 w-11" viewBox="0 0 44 6" preserveAspectRatio="none" aria-hidden="true">
      {Array.from({ length: marks }, (_, i) => (
        <rect key={i} x={i * gap} width={gap - 1} height="6" rx="1" className={i < filled ? (done === of ? "fill-done" : "fill-ink-3") : i === filled && of > 0 ? tone : "fill-line-2"} />
      ))}
    </svg>
  );
}
