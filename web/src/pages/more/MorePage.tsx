import { Link } from "@tanstack/react-router";
import { places } from "../../app/links";
import { Main, TopBar } from "../../app/TopBar";
import { Icon } from "../../ui/Icon";

/** On a phone: the pages that have no room in the tab bar. */
export function MorePage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">More</h1>
      </TopBar>
      <Main>
        <ul>
          {places.filter((place) => place.more).map((place) => (
            <li key={place.to} className="border-b border-line">
              <Link to={place.to} className="flex h-11 items-center gap-3 px-4">
                <Icon name={place.icon} />
                {place.text}
              </Link>
            </li>
          ))}
        </ul>
      </Main>
    </>
  );
}
