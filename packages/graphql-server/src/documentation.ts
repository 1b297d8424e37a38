import { deprecationDocumentationAt, type DeprecationDocumentation } from '@deedwire/core';
import type { ErrorCode } from './errors/error-table.ts';

/** The URLs of documentation pages that responses link to. */
export interface Documentation {
  /** Undefined without documentation: JSON omits it. */
  error: (code: ErrorCode) => string | undefined;
  /** Null without documentation. */
  deprecation: DeprecationDocumentation | null;
}

/**
 * The pages in the folder `docs` of this repository.
 *
 * @param base the URL where the folder is published, without a trailing slash. Without it, responses contain no links.
 */
export function documentationAt(base: string | undefined): Documentation {
  return {
    // The anchor that Markdown renderers generate from the heading.
    error: (code) => (base === undefined ? undefined : `${base}/errors.md#${code.toLowerCase()}`),
    deprecation: deprecationDocumentationAt(base),
  };
}
