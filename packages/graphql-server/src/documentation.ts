import { deprecationDocumentationAt, type DeprecationDocumentation } from '@deedwire/domain';
import type { ErrorCode } from './errors/error-table.ts';

/** The URLs of documentation pages that responses link to. */
export interface Documentation extends DeprecationDocumentation {
  error: (code: ErrorCode) => string;
}

/**
 * The pages in the folder `docs` of this repository.
 *
 * @param base the URL where the folder is published, without a trailing slash.
 */
export function documentationAt(base: string): Documentation {
  return {
    // The anchor that Markdown renderers generate from the heading.
    error: (code) => `${base}/errors.md#${code.toLowerCase()}`,
    ...deprecationDocumentationAt(base),
  };
}
