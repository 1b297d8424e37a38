import { readText } from '../workspace-files.ts';

/** The part of an interface's contract that SDL cannot express. */
export interface Manifest {
  errors: Record<string, { status: Record<ResponseMediaType, number> }>;
  requestHeaders: Record<string, { required: boolean }>;
  responseHeaders: Record<string, ResponseHeader>;
  /** Name (with its unit) → value. */
  limits: Record<string, number | Limit>;
  pagination: { firstMinimum: number; firstDefault: number; firstMaximum: number };
  /** Coordinate → points. */
  costWeights: Record<string, number>;
  /** Coordinate → number of items. */
  costListSizes: Record<string, number>;
  /** Coordinate → points. */
  costPageMaximums: Record<string, number>;
}

export interface Limit {
  value: number;
  /** `output` if the limit bounds responses. Defaults to `input`. */
  bounds?: 'input' | 'output';
  /** `false` if the limit is announced but not enforced yet. Defaults to `true`. */
  enforced?: boolean;
}

export type ResponseMediaType = 'application/graphql-response+json' | 'application/json';

export interface ResponseHeader {
  /** `always`, `authenticated`, `with-version`, `deprecated-version`, or the HTTP statuses of the responses that carry it. */
  sent: string | number[];
  value?: string;
}

const shown = [
  'errors',
  'requestHeaders',
  'responseHeaders',
  'limits',
  'pagination',
  'costWeights',
  'costListSizes',
  'costPageMaximums',
];

/** @throws {Error} if the manifest has a section that no page shows */
export function readManifest(path: string): Manifest {
  const manifest: Manifest = JSON.parse(readText(path));
  const hidden = Object.keys(manifest).filter((part) => !shown.includes(part));
  if (hidden.length > 0) throw new Error(`${path}: the reference does not show ${hidden.join(', ')}`);
  return manifest;
}
