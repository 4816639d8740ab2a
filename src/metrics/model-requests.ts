import type { Registry } from 'prom-client'
import type { ObserveRequest } from '../model/metered.ts'

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** Adds the metrics of requests to model services. Returns a function that counts one. */
export function addModelMetrics(
  { Counter, Histogram }: typeof import('prom-client'),
  register: Registry,
  kindOf: (provider: string) => string,
): ObserveRequest {
  const registers = [register]
  const requests = new Counter({
    name: 'delegate_model_requests_total',
    help: 'Requests to model services, by purpose, kind of service and outcome',
    labelNames: ['purpose', 'service', 'outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'delegate_model_request_seconds',
    help: 'Time from a request to the end of its answer',
    labelNames: ['purpose', 'service'],
    buckets: SECONDS,
    registers,
  })
  const tokens = new Counter({
    name: 'delegate_model_tokens_total',
    help: 'Tokens as the services count them; cached ones are also input',
    labelNames: ['purpose', 'service', 'kind'],
    registers,
  })
  return ({ purpose, model, outcome, seconds: took, usage }) => {
    const labels = { purpose, service: kindOf(model.provider) }
    requests.inc({ ...labels, outcome })
    seconds.observe(labels, took)
    tokens.inc({ ...labels, kind: 'input' }, usage.inputTokens)
    tokens.inc({ ...labels, kind: 'output' }, usage.outputTokens)
    tokens.inc({ ...labels, kind: 'cached' }, usage.cachedTokens)
  }
}
