import { Empty } from "../ui/Empty";
import { Main, TopBar } from "./TopBar";

/** What stands at an address that no page has. */
export function NotFound() {
  return (
    <>
      <TopBar><h1 className="text-14 font-bold">No such page</h1></TopBar>
      <Main><Empty title="There is no page at this address">The sidebar leads to all of them.</Empty></Main>
    </>
  );
}
