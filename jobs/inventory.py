"""What `nestsync inventory` does, for Spark: `spark-submit --py-files dist/nestsync.zip jobs/inventory.py -c FILE`."""

from nestsync.cli import job

if __name__ == "__main__":
    job("inventory")
