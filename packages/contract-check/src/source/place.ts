/**
 * Where contracts are. `url`: over HTTP. `git`: `git:REF[:PATH]`. `npm`: `npm:NAME@RANGE[:PATH]`. `input`: `-`, the standard input.
 * `tarball`: `FILE.tgz[:PATH]`, written by `npm pack`. `local`: the path of a file or a folder.
 */
export type PlaceKind = 'local' | 'tarball' | 'input' | 'git' | 'npm' | 'url';

export function kindOfPlace(place: string): PlaceKind {
  if (place === '-') return 'input';
  if (place.startsWith('git:')) return 'git';
  if (place.startsWith('npm:')) return 'npm';
  if (/^https?:\/\//.test(place)) return 'url';
  return tarball.test(place) ? 'tarball' : 'local';
}

const tarball = /^(.+\.(?:tgz|tar\.gz))(?::(.+))?$/;

/** Splits a place of the kind `git`, `npm` or `tarball`. The path is null if the place has none. */
export function splitPlace(place: string): { readonly files: string; readonly path: string | null } {
  const [, files = place, path = null] = /^((?:git|npm):[^:]*):(.+)$/.exec(place) ?? tarball.exec(place) ?? [];
  return { files, path };
}
