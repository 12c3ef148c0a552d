import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { TidemarkError } from '../contract/errors.ts';
import { newId } from '../infra/ids.ts';
import type { Logger } from '../infra/log.ts';
import { isConnectionLoss } from '../infra/postgres/transaction.ts';
import { authenticate } from './auth.ts';
import type { Gateway } from './gateway.ts';
import { sendProblem } from './problem.ts';
import { agUiRoutes } from './routes/ag-ui.ts';
import { artifactRoutes } from './routes/artifacts.ts';
import { engineRoutes } from './routes/engines.ts';
import { evidenceRoutes } from './routes/evidence.ts';
import { extensionRoutes } from './routes/extensions.ts';
import { healthRoutes } from './routes/health.ts';
import { interruptRoutes } from './routes/interrupts.ts';
import { runEventRoutes } from './routes/run-events.ts';
import { runRoutes } from './routes/runs.ts';
import { threadEventsRouter } from './routes/thread-events.ts';
import { sessionRoutes } from './routes/session.ts';
import { threadRoutes } from './routes/threads.ts';

/** A body's size, at most: an input of 1 MiB may need twice as much as JSON. */
const BODY_LIMIT = '2.5mb';

/** The gateway's HTTP surface. Every failure is a problem response with a code and a remedy. */
export function createApp(gateway: Gateway): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(healthRoutes(gateway));
  app.use(authenticate(gateway.config));
  app.use(refuseWhileDraining(gateway));
  app.use(jsonOnly, express.json({ limit: BODY_LIMIT, strict: true }));
  const routers = [
    runRoutes,
    runEventRoutes,
    sessionRoutes,
    threadRoutes,
    threadEventsRouter,
    interruptRoutes,
    evidenceRoutes,
    artifactRoutes,
    engineRoutes,
    extensionRoutes,
    agUiRoutes,
  ];
  for (const routes of routers) {
    app.use('/v1', routes(gateway));
  }
  app.use((req) => {
    throw new TidemarkError(
      'not_found',
      `there is no ${req.method} ${req.path}`,
      'See docs/protocol.md for the routes.',
    );
  });
  app.use(problems(gateway.log));
  return app;
}

function refuseWhileDraining(gateway: Gateway): RequestHandler {
  return (_req, res, next) => {
    if (gateway.draining) {
      res.setHeader('Connection', 'close');
      throw new TidemarkError(
        'draining',
        'this gateway is going away',
        'Send the request again; another gateway takes it.',
      );
    }
    next();
  };
}

/** A body that is not JSON is refused by its type, not read as empty. */
const jsonOnly: RequestHandler = (req, _res, next) => {
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  if (hasBody && req.is('application/json') === false) {
    throw new TidemarkError(
      'unsupported_media_type',
      'the body is not application/json',
      'Send JSON with the header "Content-Type: application/json".',
    );
  }
  next();
};

function problems(log: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    const problem = asProblem(error);
    if (problem.code === 'internal' || problem.code === 'unavailable') {
      log.error({ err: error, ...problem.facts, method: req.method, path: req.path }, 'request failed');
    }
    if (res.headersSent) {
      res.destroy();
      return;
    }
    sendProblem(res, problem, req.path);
  };
}

function asProblem(error: unknown): TidemarkError {
  if (error instanceof TidemarkError) return error;
  const { type, status } = error as { type?: string; status?: number };
  if (type === 'entity.too.large') {
    return new TidemarkError('payload_too_large', `the body is over ${BODY_LIMIT}`, 'Send less.');
  }
  if (type === 'entity.parse.failed') {
    const message = error instanceof Error ? error.message : 'not JSON';
    return new TidemarkError('invalid_json', `the body is not JSON: ${message.slice(0, 200)}`, 'Send a JSON object.');
  }
  if (status === 415)
    return new TidemarkError(
      'unsupported_media_type',
      'the body’s encoding or charset is not known',
      'Send UTF-8 JSON.',
    );
  if (status !== undefined && status >= 400 && status < 500) {
    return new TidemarkError(
      'invalid_request',
      'the request is malformed',
      'Correct the path, the headers or the body.',
    );
  }
  const request = { request_id: newId('request') };
  if (isConnectionLoss(error)) {
    return new TidemarkError(
      'unavailable',
      'the database does not answer',
      'Send the request again with the same Idempotency-Key.',
      {
        facts: request,
        cause: error,
      },
    );
  }
  return new TidemarkError(
    'internal',
    'the gateway failed',
    'Report it with this request_id; the gateway’s log has the details.',
    {
      facts: request,
      cause: error,
    },
  );
}
