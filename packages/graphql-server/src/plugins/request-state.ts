import type { IncomingMessage } from 'node:http';
import type { PortalSession } from '@deedwire/actions';
import type { AuthenticatedClient } from '@deedwire/auth';
import type { Pricing } from '@deedwire/operation-analysis';
import type { HandlerContext } from '@deedwire/service-runtime';
import type { DocumentNode, ExecutionArgs } from 'graphql';
import type { GraphQLParams, Plugin, YogaInitialContext } from 'graphql-yoga';
import type { AuthenticatedRequest } from '../authentication/authenticate-request.ts';
import type { OperationCost, RequestAccount } from '../cost/request-account.ts';
import type { Documentation } from '../documentation.ts';
import type { ErrorCode, ResponseMediaType } from '../errors/error-table.ts';
import type { OperationDeadline } from '../operation/deadline.ts';
import type { Documents } from '../operation/documents.ts';
import type { OperationPauses, WorkContext } from '../operation/operation-pauses.ts';
import type { UsedCoordinates } from '../use/used-coordinates.ts';
import type { InterfaceVersion } from '../versions/serve-contract.ts';

/** A version of the interface, with what the operations on its schema share. */
export interface ServedVersion extends InterfaceVersion {
  headers: Readonly<Record<string, string>>;
  documents: Documents;
  pricing: Pricing;
  usedCoordinates: UsedCoordinates;
  /** Of its Yoga. */
  handle: (request: Request, context: never) => Response | Promise<Response>;
}

/** Of a document that is not cached. */
export interface Reading {
  bytes: number;
  /** When parsing it began, and for how long it has occupied the process: plugins can wait between the other steps. */
  startMs: number;
  occupiedMs: number;
  end: (occupiedMs: number) => void;
}

/** A request to the portal. */
export interface PortalRequest {
  /** Of the account in the URL. */
  organizationId: string;
  /** Below the base of the pages. */
  path: string;
  /** The version of the interface for which the pages were built. */
  version: string;
  /** @throws {CredentialsRefusedError} if the request has no valid session of the organization, or no valid link to it */
  authenticate(state: RequestState): AuthenticatedRequest | Promise<AuthenticatedRequest>;
  /** @throws {RequestError} instead of a refusal before the client is known, if the address has too many of them */
  limitRefusal(state: RequestState): void;
  parseParameters(body: string, state: RequestState): GraphQLParams;
  /** Responds to a request to start, show or end the session, once its client is authenticated. Undefined for other requests. */
  respond?: (state: RequestState) => Promise<Response>;
}

/** The state of a request. Our plugins fill it in, in their order. The plugins of an app must not change it. */
export class RequestState {
  /** Contains the API key and cookies: plugins log what they get. */
  readonly #message: IncomingMessage;
  readonly http: HandlerContext;
  readonly documentation: Pick<Documentation, 'error'>;
  readonly startedMs = performance.now();
  mediaType: ResponseMediaType = 'application/json';
  client: AuthenticatedClient | undefined = undefined;
  keyId: string | undefined = undefined;
  /** Undefined unless the request is sent to the portal. */
  portal: PortalRequest | undefined = undefined;
  /** Undefined unless a session of the portal authenticates the request. */
  session: PortalSession | undefined = undefined;
  /** Undefined until the client is authenticated. */
  account: RequestAccount | undefined = undefined;
  /** The client has so many refusals that this request was not looked at. */
  isDropped = false;
  version: ServedVersion | undefined = undefined;
  /** 0 if the body was not read. */
  bodyBytes = 0;
  /** What the body contains. Undefined if plugins can have changed it. */
  params: object | undefined = undefined;
  /** A document that is not cached, while it is read. */
  reading: Reading | undefined = undefined;
  /** The points that reading the document has cost. */
  paid = 0;
  /** Parsed, and then validated. */
  document: DocumentNode | undefined = undefined;
  /** What is executed, as it was priced. */
  execution: { args: ExecutionArgs; deadline: OperationDeadline } | undefined = undefined;
  cost: OperationCost | undefined = undefined;
  pauses: OperationPauses | undefined = undefined;
  /** What resolvers add to `extensions` of the response. */
  extensions: object | undefined = undefined;
  response: { status: number } | undefined = undefined;
  /** Of the response. Null when nothing failed. */
  code: ErrorCode | null = null;
  /** The internal errors to log. */
  causes: readonly unknown[] = [];
  /** The refusal has been logged. */
  isLogged = false;
  /** The request went no further, because the client has closed the connection. */
  isClientGone = false;
  /** Called once the response is sent. */
  afterwards: (() => void) | undefined = undefined;

  constructor(message: IncomingMessage, http: HandlerContext, documentation: Pick<Documentation, 'error'>) {
    this.#message = message;
    this.http = http;
    this.documentation = documentation;
  }

  get message(): IncomingMessage {
    return this.#message;
  }

  get requestId(): string {
    return this.http.requestId;
  }

  /** Whether the client waits for the response. */
  isOpen(): boolean {
    return this.response === undefined && this.http.isOpen();
  }

  /** Of the client. */
  get address(): string {
    return this.http.address;
  }
}

/** What a plugin gets as `serverContext` and `context`. Resolvers get it too, with the context of the operation. */
export interface RequestContext {
  requestState: RequestState;
}

/** What the plugins read of the context of resolvers. */
export interface ContextOfOperation extends WorkContext {
  /** Added to `extensions` of the response. */
  readonly extensions: object;
}

export type RequestPlugin = Plugin<RequestContext, RequestContext>;
export type OperationContextValue = RequestContext & ContextOfOperation & YogaInitialContext;

/** A value that an earlier step has set. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('A plugin skipped a step.');
  return value;
}
