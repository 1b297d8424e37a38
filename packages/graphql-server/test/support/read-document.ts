import type { DocumentNode } from 'graphql';
import { type DocumentSteps, invalidDocument } from '../../src/operation/read-document.ts';

/** @throws {RequestError} if the document is rejected. */
export function readDocument(query: string, steps: DocumentSteps): DocumentNode {
  const document = steps.parse(query);
  const errors = steps.validate(document);
  if (errors.length > 0) throw invalidDocument(errors);
  return document;
}
