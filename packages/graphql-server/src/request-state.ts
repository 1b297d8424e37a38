import type { IncomingMessage } from 'node:http';
import type { Pricing } from '@deedwire/operation-analysis';
import type { HandlerContext } from '@deedwire/service-runtime';
import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import type { AuthenticatedRequest } from './authentication/authenticate-request.ts';
import type { OperationCharge } from './cost/operation-charge.ts';
import type { OperationCost, RequestAccount } from './cost/request-account.ts';
import type { Documentation } from './documentation.ts';
import type { ErrorCode, ResponseMediaType } from './errors/error-table.ts';
import type { OperationDeadline } from './operation/deadline.ts';
import type { Documents } from './operation/documents.ts';
import type { NeededAbilities } from './operation/needed-abilities.ts';
import type { ContextOfOperation } from './operation/operation-pauses.ts';
import type { UsedCoordinates } from './use/used-coordinates.ts';
import type { InterfaceVersion } from './versions/serve-contract.ts';

/** A version of the interface, with what the operations on its schema share. */
export interface ServedVersion extends InterfaceVersion {
  headers: Readonly<Record<string, string>>;
  documents: Documents;
  pricing: Pricing;
  neededAbilities: NeededAbilities;
  usedCoordinates: UsedCoordinates;
  /** Ends a request, by its Yoga. */
  respond: (state: RequestState) => Promise<void>;
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
  parseParameters(body: string): GraphQLParams;
  /** Ends a request to start, show or end the session, once its client is authenticated. Undefined for other requests. */
  respond?: (state: RequestState) => Promise<void>;
}

/** The response, and what the log and the metrics say about it. */
export interface Outcome {
  response: {
    readonly status: number;
    readonly fields: Readonly<Record<string, string>>;
    readonly body: string | Buffer;
  };
  /** Null when nothing failed. */
  code: ErrorCode | null;
  /** The internal errors to log. */
  causes: readonly unknown[];
  /** The refusal has been logged. */
  isLogged?: boolean;
  /** The request went no further, because the client has closed the connection. */
  isClientGone?: boolean;
}

/** Of a document that is not cached. */
export interface Reading {
  bytes: number;
  /** When parsing it began, and for how long it has occupied the process: plugins can wait between the other steps. */
  startMs: number;
  occupiedMs: number;
  end: (occupiedMs: number) => void;
}

/** What more than one step of a request needs. The steps fill it in, in their order. The plugins of an app must not change it. */
export class RequestState {
  /** Contains the API key and cookies: plugins log what they get. */
  readonly #message: IncomingMessage;
  readonly http: HandlerContext;
  readonly documentation: Pick<Documentation, 'error'>;
  readonly startedMs = performance.now();
  /** Undefined unless the request is sent to the portal. */
  portal: PortalRequest | undefined = undefined;
  mediaType: ResponseMediaType = 'application/json';
  /** Undefined until the client is authenticated. */
  caller: AuthenticatedRequest | undefined = undefined;
  account: RequestAccount | undefined = undefined;
  /** The client has so many refusals that this request was not looked at. */
  isDropped = false;
  version: ServedVersion | undefined = undefined;
  /** 0 if the body was not read. */
  bodyBytes = 0;
  /** A document that is not cached, while it is read. */
  reading: Reading | undefined = undefined;
  /** The points that reading the document has cost. */
  paid = 0;
  /** Parsed, and then validated. */
  document: DocumentNode | undefined = undefined;
  /** Of the document. Undefined until it is charged. */
  operation: OperationDefinitionNode | undefined = undefined;
  context: ContextOfOperation | undefined = undefined;
  charge: OperationCharge | undefined = undefined;
  /** Undefined until the operation runs. */
  deadline: OperationDeadline | undefined = undefined;
  cost: OperationCost | undefined = undefined;
  /** Undefined while there is no response. */
  outcome: Outcome | undefined = undefined;

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
    return this.outcome === undefined && this.http.isOpen();
  }

  /** Of the client. */
  get address(): string {
    return this.http.address;
  }
}

/** A value that an earlier step has set. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('A step of the request was skipped.');
  return value;
}
