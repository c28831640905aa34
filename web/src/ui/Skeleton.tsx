import { useEffect, useState } from "react";
import { cx } from "../lib/cx";

const widths = ["w-[30%]", "w-[60%]", "w-[45%]"];

/** Rows in their final height while they are read; nothing for the first 300 ms. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label="Reading" className="px-4">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} className="flex h-(--row) items-center">{late && <span className={cx("h-2.5 rounded-chip bg-line", widths[i % widths.length])} />}</div>
      ))}
    </div>
  );
}
