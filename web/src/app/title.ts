import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { inboxQuery } from "../api/queries";
import { useCw } from "./cw";

/** The title of the tab: "(3) Now · cw", with how many things wait for a person. */
export function useTitle(page: string): void {
  const waiting = useQuery(inboxQuery(useCw().client)).data?.items?.length ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${page} · cw`;
  }, [page, waiting]);
}
