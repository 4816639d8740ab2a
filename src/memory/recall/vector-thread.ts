import { serveFunctions } from '../../storage/serve-functions.ts'
import { vectorFunctions } from './vector-functions.ts'

serveFunctions(vectorFunctions)
