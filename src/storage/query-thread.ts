import { queryFunctions } from './query-functions.ts'
import { serveFunctions } from './serve-functions.ts'

serveFunctions(queryFunctions)
