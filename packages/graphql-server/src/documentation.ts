import type { ErrorCode } from './errors/error-table.ts';

/** The URLs of documentation pages that responses link to. */
export interface Documentation {
  error: (code: ErrorCode) => string;
  deprecation: string;
  sunset: string;
}

/**
 * The pages in the folder `docs` of this repository.
 *
 * @param base the URL where the folder is published, without a trailing slash.
 */
export function documentationAt(base: string): Documentation {
  return {
    // The anchors that Markdown renderers generate from the headings.
    error: (code) => `${base}/errors.md#${code.toLowerCase()}`,
    deprecation: `${base}/versions.md#detect-a-deprecated-version`,
    sunset: `${base}/versions.md#move-to-a-newer-version`,
  };
}
