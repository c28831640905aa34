import { Main, TopBar } from "../../app/TopBar";

export function InitiativesPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Initiatives</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Initiatives</p>
      </Main>
    </>
  );
}
