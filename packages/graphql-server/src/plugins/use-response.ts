import { respondWith, singleResult } from '../respond.ts';
import { asResponse } from './light-fetch.ts';
import type { RequestPlugin } from './request-plugin.ts';

/** Gives the result its form, its status and its headers. Comes last. */
export function useResponse({ responseBytes }: { responseBytes: number }): RequestPlugin {
  return {
    onResultProcess(payload) {
      const { requestState: state } = payload.serverContext;
      const process = (result: unknown): Response =>
        asResponse(respondWith(state, singleResult(result), responseBytes));
      payload.setResultProcessor(process, state.mediaType);
    },
  };
}
