/** The columns of the table: status, agent, task, this second, plan, time, cost, then account and lines where there is room. */
export const columns =
  "grid items-center gap-x-2.5 px-4 grid-cols-[1rem_4.25rem_7rem_minmax(6rem,1fr)_minmax(8rem,1.3fr)_5.5rem_3.5rem_3.25rem] " +
  "desk:grid-cols-[1rem_4.25rem_6.5rem_minmax(7rem,1.1fr)_minmax(9rem,1.4fr)_5.125rem_3.5rem_3rem_5.75rem_6.75rem]";
