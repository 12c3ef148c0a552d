import { z } from 'zod';
import { previewText } from '../../../contract/frames.ts';

export const INVALID_PARAMS = -32_602;
export const NOT_FOUND = -32_002;
const UNKNOWN_METHOD = -32_601;

/** A refusal that the agent is told, as JSON-RPC has it. */
export class RequestFault extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** For a method that this client does not have. */
export function unknownMethod(method: string): RequestFault {
  return new RequestFault(UNKNOWN_METHOD, `this client has no method ${previewText(method, 200)}`);
}

/** The parameters of a request. Throws a `RequestFault` that names what is wrong with them. */
export function paramsOf<T extends z.ZodType>(schema: T, params: unknown): z.infer<T> {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  throw new RequestFault(INVALID_PARAMS, z.prettifyError(result.error));
}
