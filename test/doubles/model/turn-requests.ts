import { isMemoryRequest, type ModelDouble, type RecordedRequest } from './model-double.ts'

/** The requests to `/responses` that are no business of memory's, oldest first. */
export function turnRequests(double: ModelDouble): RecordedRequest[] {
  return double.requests('/responses').filter((request) => !isMemoryRequest(request))
}
