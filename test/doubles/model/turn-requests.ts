import { isMemoryRequest, type ModelDouble, type RecordedRequest } from './model-double.ts'

/** The requests to `/responses` except those of memory, oldest first. */
export function turnRequests(double: ModelDouble): RecordedRequest[] {
  return double.requests('/responses').filter((request) => !isMemoryRequest(request))
}
