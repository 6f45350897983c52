"""The recipe ``nsysan_overview``: nsysan's page, its run.json and tables of it."""
