"""The templates and assets of the page, shipped as the package ``nsysan_templates``."""
