/**
 * Reports whether a document has pictures that the editor would fetch, or characters
 * that steer a terminal or turn the text around. JSON writes control characters as
 * \u00XX, so that the text is searched for that.
 */
export const unsafe = (document: unknown) => /"src":"(?!data:)|(?<!\\)(?:\\\\)*\\u00[01]|[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(JSON.stringify(document));
