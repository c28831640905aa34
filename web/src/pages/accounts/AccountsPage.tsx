import { Main, TopBar } from "../../app/TopBar";

export function AccountsPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Accounts</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Accounts</p>
      </Main>
    </>
  );
}
