import { isMemoryRequest, type ModelDouble, type RecordedRequest } from './model-double.ts'

/** The requests to `/responses`, or to another path, except those of memory, oldest first. */
export function turnRequests(double: ModelDouble, path = '/responses'): RecordedRequest[] {
  return double.requests(path).filter((request) => !isMemoryRequest(request))
}
