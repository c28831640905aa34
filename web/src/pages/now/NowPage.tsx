import { Main, TopBar } from "../../app/TopBar";

export function NowPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Now</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Now</p>
      </Main>
    </>
  );
}
