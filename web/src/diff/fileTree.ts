/** A folder of the list of files, with the files right in it. */
export interface Folder<T> {
  /** "": the root. */
  path: string;
  files: T[];
}

/** Puts files below their folders, both in the order of their paths. */
export function foldersOf<T extends { path: string }>(files: T[]): Folder<T>[] {
  const folders = new Map<string, T[]>();
  for (const file of files) {
    const folder = file.path.includes("/") ? file.path.slice(0, file.path.lastIndexOf("/")) : "";
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders].map(([path, inside]) => ({ path, files: inside }));
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
