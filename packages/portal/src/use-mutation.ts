import { useRef, useState } from 'react';
import type { DocumentId } from './generated/documents.ts';
import { type Failure, failureOf, send } from './request.ts';

export interface UserError {
  readonly message: string;
  readonly code?: string;
  readonly field?: readonly string[] | null;
}

interface Mutation<Result, Variables> {
  readonly running: boolean;
  readonly failure: Failure | null;
  readonly userErrors: readonly UserError[];
  /** Returns null if the change failed, or if an earlier one is still running. A result with user errors is a refusal. */
  readonly run: (variables: () => Promise<Variables> | Variables) => Promise<Result | null>;
}

export function userErrorsOf(result: object): UserError[] {
  return Object.values(result).flatMap((payload: { userErrors: UserError[] }) => payload.userErrors);
}

export function useMutation<Result extends object, Variables>(
  documentId: DocumentId<Result, Variables>,
): Mutation<Result, Variables> {
  const idle = { running: false, failure: null, userErrors: [] };
  const [state, setState] = useState<Omit<Mutation<Result, Variables>, 'run'>>(idle);
  const running = useRef(false);
  const run: Mutation<Result, Variables>['run'] = async (variables) => {
    if (running.current) return null;
    running.current = true;
    setState({ ...idle, running: true });
    try {
      const result = await send(documentId, await variables());
      setState({ ...idle, userErrors: userErrorsOf(result) });
      return result;
    } catch (error) {
      setState({ ...idle, failure: failureOf(error) });
      return null;
    } finally {
      running.current = false;
    }
  };
  return { ...state, run };
}
