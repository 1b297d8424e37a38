/**
 * Where contracts are. `url`: over HTTP. `git`: `git:REF[:PATH]`. `npm`: `npm:NAME@RANGE[:PATH]`. `input`: `-`, the standard input.
 * `local`: the path of a file, a folder or a tarball.
 */
export type PlaceKind = 'local' | 'input' | 'git' | 'npm' | 'url';

export function kindOfPlace(place: string): PlaceKind {
  if (place === '-') return 'input';
  if (place.startsWith('git:')) return 'git';
  if (place.startsWith('npm:')) return 'npm';
  return /^https?:\/\//.test(place) ? 'url' : 'local';
}
