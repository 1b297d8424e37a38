import type { ErrorCode } from './errors/error-table.ts';

/** Where what we answer is explained. */
export interface Documentation {
  error: (code: ErrorCode) => string;
  deprecation: string;
  sunset: string;
}

/**
 * The pages in the folder `docs` of this repository, wherever that is published.
 *
 * @param base its URL, without a slash at the end.
 */
export function documentationAt(base: string): Documentation {
  return {
    // The anchors of headings, as they are made of Markdown.
    error: (code) => `${base}/errors.md#${code.toLowerCase()}`,
    deprecation: `${base}/versions.md#to-notice-that-one-ends`,
    sunset: `${base}/versions.md#to-move-to-the-next`,
  };
}
