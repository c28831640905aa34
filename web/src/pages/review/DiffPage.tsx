import { Main, TopBar } from "../../app/TopBar";

export function DiffPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Diff</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Diff</p>
      </Main>
    </>
  );
}
