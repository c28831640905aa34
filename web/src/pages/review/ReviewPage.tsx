import { Main, TopBar } from "../../app/TopBar";

export function ReviewPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Review</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Review</p>
      </Main>
    </>
  );
}
