import { Main, TopBar } from "../../app/TopBar";

export function InitiativePage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Initiative</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Initiative</p>
      </Main>
    </>
  );
}
