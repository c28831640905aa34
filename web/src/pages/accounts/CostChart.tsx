import { Fragment } from "react";
import { dollars } from "../../lib/words";
import { SectionHead } from "../../ui/Section";
import { ticksOf, type CostChartData } from "./costDays";

const fills = ["fill-c1", "fill-c2", "fill-c3", "fill-c4"];
const H = 240;
const LEFT = 36;
const TOP = 30;
const BASE = 205;

/** What each day cost, stacked by account. For those who do not see it, the same as a table. */
export function CostChart({ data, width }: { data: CostChartData; width: number }) {
  const most = Math.max(0, ...data.days.map((one) => one.total));
  const last = data.days.length - 1;
  const today = data.days[last]?.total ?? 0;
  return (
    <figure className="min-w-0 desk:border-r desk:border-line">
      <figcaption>
        <SectionHead title="Cost per day">
          <span className="whitespace-nowrap text-ink-3 max-tab:hidden">in $</span>
          <span className="ml-auto flex flex-wrap justify-end gap-x-3 text-12 text-ink-2">
            {data.series.map((one, i) => (
              <span key={one.key} className="inline-flex items-center gap-1.5">
                <svg viewBox="0 0 10 10" className="size-2.5" aria-hidden="true"><rect width="10" height="10" rx="2" className={fills[i]} /></svg>
                {one.name}
              </span>
            ))}
          </span>
        </SectionHead>
      </figcaption>
      <div className="px-4 pb-3">
        <svg viewBox={`0 0 ${width} ${H}`} role="img" aria-label={`Cost per day and account; highest ${dollars(most)}, today ${dollars(today)} so far`} className="block w-full">
          <Bars data={data} most={most} right={width - 8} />
        </svg>
      </div>
      <CostTable data={data} />
    </figure>
  );
}

function Bars({ data, most, right }: { data: CostChartData; most: number; right: number }) {
  const ticks = ticksOf(most);
  const top = ticks.at(-1) ?? 1;
  const y = (value: number) => BASE - (value / top) * (BASE - TOP);
  const step = (right - LEFT) / data.days.length;
  const width = Math.min(40, step * 0.68);
  return (
    <>
      {ticks.map((tick) => (
        <Fragment key={tick}>
          <path d={`M${LEFT} ${y(tick)}H${right}`} className="stroke-line" />
          <text x={LEFT - 8} y={y(tick) + 4} textAnchor="end" className="fill-ink-3 text-11">{tick}</text>
        </Fragment>
      ))}
      {data.days.map((day, i) => {
        const x = LEFT + step * (i + 0.5);
        const now = i === data.days.length - 1;
        let sum = 0;
        return (
          <g key={day.day}>
            <title>{`${day.day}: ${dollars(day.total)}`}</title>
            {day.parts.map((part, at) => {
              const from = y(sum);
              sum += part;
              const height = from - y(sum);
              return height > 0 && <rect key={at} x={x - width / 2} y={y(sum)} width={width} height={Math.max(0.5, height - 0.6)} className={fills[at]} />;
            })}
            {day.total > 0 && <text x={x} y={y(day.total) - 5} textAnchor="middle" className="fill-ink text-11">{most < 10 ? day.total.toFixed(2) : Math.round(day.total)}</text>}
            <text x={x} y={BASE + 17} textAnchor="middle" className={now ? "fill-ink text-11 font-bold" : "fill-ink-3 text-11"}>{now ? "today" : Number(day.day.slice(8))}</text>
          </g>
        );
      })}
    </>
  );
}

function CostTable({ data }: { data: CostChartData }) {
  return (
    <table className="sr-only">
      <caption>Cost per day and account</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          {data.series.map((one) => <th key={one.key} scope="col">{one.name}</th>)}
          <th scope="col">All</th>
        </tr>
      </thead>
      <tbody>
        {data.days.map((day) => (
          <tr key={day.day}>
            <th scope="row">{day.day}</th>
            {day.parts.map((part, i) => <td key={i}>{dollars(part)}</td>)}
            <td>{dollars(day.total)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
