/** Of an uploaded file: several times the largest exports that people report, which are mostly images. */
export const MAX_UPLOAD_BYTES = 8 * 1024 ** 3
