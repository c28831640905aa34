import { Main, TopBar } from "../../app/TopBar";

export function ActivityPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Activity</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Activity</p>
      </Main>
    </>
  );
}
