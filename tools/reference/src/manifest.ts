import { readText } from './workspace-files.ts';

/** The part of an interface's contract that SDL does not show. */
export interface Manifest {
  errors: Record<string, { status: Record<ResponseMediaType, number> }>;
  requestHeaders: Record<string, { required: boolean }>;
  responseHeaders: Record<string, ResponseHeader>;
  /** Name, with its unit → value. */
  limits: Record<string, number | Limit>;
  pagination: { firstMinimum: number; firstDefault: number; firstMaximum: number };
}

export interface Limit {
  value: number;
  /** `output`: of what clients are sent. */
  bounds?: 'input' | 'output';
  /** `false`: promised, and not held against clients yet. */
  enforced?: boolean;
}

export type ResponseMediaType = 'application/graphql-response+json' | 'application/json';

export interface ResponseHeader {
  /** `always`, `with-version`, `deprecated-version`, or the statuses that carry it. */
  sent: string | number[];
  value?: string;
}

const shown = ['errors', 'requestHeaders', 'responseHeaders', 'limits', 'pagination'];

/** @throws Error for a part that no page would show */
export function readManifest(path: string): Manifest {
  const manifest: Manifest = JSON.parse(readText(path));
  const hidden = Object.keys(manifest).filter((part) => !shown.includes(part));
  if (hidden.length > 0) throw new Error(`${path}: the reference has no place for ${hidden.join(', ')}`);
  return manifest;
}
